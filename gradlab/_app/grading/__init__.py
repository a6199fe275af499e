"""`gradlab grade`: students' notebooks run elsewhere; their results are compared in this process."""
