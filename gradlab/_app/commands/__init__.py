"""The commands of `gradlab`, one file each: `add(commands)` says what it takes, and its action carries it out."""
