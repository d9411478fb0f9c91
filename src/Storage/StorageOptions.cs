namespace Treepie.Storage;

/// <summary>How an environment is opened. Immutable; defaults are right for most uses.</summary>
public sealed record StorageOptions
{
    /// <summary>When a write is acknowledged.</summary>
    public Durability Durability { get; init; } = Durability.Durable;

    /// <summary>Opens without the right to write; no file is created or changed.</summary>
    public bool ReadOnly { get; init; }
}
