"""What the organisers published and no score file tells: packaged as TOML."""
