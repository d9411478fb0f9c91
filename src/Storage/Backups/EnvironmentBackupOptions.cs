namespace Treepie.Storage.Backups;

/// <summary>How to back up an environment. Immutable.</summary>
public sealed record EnvironmentBackupOptions
{
    /// <summary>What it goes on from; null: a snapshot, which needs no other part.</summary>
    public EnvironmentBackupLink? Since { get; init; }

    /// <summary>Key that seals it; null: it is plain.</summary>
    public EncryptionKey? Key { get; init; }

    /// <summary>Makes a plain backup also of an encrypted environment: everybody who has it can read it.</summary>
    public bool AllowPlain { get; init; }
}
