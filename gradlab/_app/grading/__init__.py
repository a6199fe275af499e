"""`gradlab grade`: students' notebooks run in a sandbox, their answers compared in this process."""
