namespace Treepie.Indexes;

/// <summary>
/// What is set of an index beside its definition. Durable with the documents; no part of the definition, so a change builds
/// nothing anew. Immutable.
/// </summary>
public sealed record IndexSettings
{
    /// <summary>Whether its definition may be replaced.</summary>
    public IndexLockMode LockMode { get; init; }

    /// <summary>Who goes first where more indexes want to work than may at a time.</summary>
    public IndexPriority Priority { get; init; } = IndexPriority.Normal;

    /// <summary>Whether it takes no changes, also after the next start. It goes on answering, from what it has.</summary>
    public bool IsDisabled { get; init; }
}

/// <summary>What becomes of a changed definition that is put for an index defined by hand.</summary>
public enum IndexLockMode
{
    /// <summary>It replaces the one that is there.</summary>
    Unlock,

    /// <summary>It is passed over, without a word.</summary>
    LockedIgnore,

    /// <summary>It is refused.</summary>
    LockedError,
}

/// <summary>Who goes first where several indexes wait for their turn to work.</summary>
public enum IndexPriority
{
    /// <summary>After all others.</summary>
    Low,

    /// <summary>As most do.</summary>
    Normal,

    /// <summary>Before all others.</summary>
    High,
}
