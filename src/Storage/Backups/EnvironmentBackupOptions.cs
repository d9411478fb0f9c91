namespace Treepie.Storage.Backups;

/// <summary>Options of a backup of an environment. Immutable.</summary>
public sealed record EnvironmentBackupOptions
{
    /// <summary>The link from which it continues; null: a snapshot, which depends on no other part.</summary>
    public EnvironmentBackupLink? Since { get; init; }

    /// <summary>The key that encrypts it; null: it is not encrypted.</summary>
    public EncryptionKey? Key { get; init; }

    /// <summary>Allows an unencrypted backup of an encrypted environment; everyone with access to it can read it.</summary>
    public bool AllowPlain { get; init; }
}
