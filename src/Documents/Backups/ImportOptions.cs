using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>Options for importing the contents of a backup into an existing database. Immutable.</summary>
public sealed record ImportOptions
{
    /// <summary>The key with which the backup was encrypted; null for an unencrypted one.</summary>
    public EncryptionKey? BackupKey { get; init; }

    /// <summary>
    /// The kinds of data to import. Default: all, except tombstones, which do not apply to another database and are never
    /// imported.
    /// </summary>
    public BackupContent Content { get; init; } = BackupContent.All;

    /// <summary>The collections (case-insensitive) whose documents are imported. Null: all.</summary>
    public IReadOnlyList<string>? Collections { get; init; }

    /// <summary>The documents that are left out, with all that lies beside them. Default: none.</summary>
    public LeftOutDocuments LeftOut { get; init; }

    /// <summary>
    /// A script that changes or drops documents before they are stored; revisions of those that it does not drop stay as they
    /// are. Null: documents are stored as the backup has them.
    /// </summary>
    public DocumentTransform? Transform { get; init; }

    /// <summary>
    /// The members of the database record that are not imported, by their names in it, such as <c>Expiration</c>, or those of
    /// settings of programs (<see cref="Database.Settings"/>). Default: none.
    /// </summary>
    public IReadOnlyList<string> LeftOutSettings { get; init; } = [];

    /// <summary>Whether imported documents get no revision, whatever the configuration says. Default: false.</summary>
    public bool SkipRevisionCreation { get; init; }

    /// <summary>
    /// Skips documents that are invalid or exceed a limit, and lists them in the report, instead of failing. Default: false.
    /// </summary>
    public bool SkipInvalidDocuments { get; init; }

    /// <summary>
    /// The key of the database itself, which is tried if the backup is encrypted and no <see cref="BackupKey"/> is given.
    /// </summary>
    internal EncryptionKey? OwnKey { get; init; }

    /// <summary>
    /// The maximum number of documents left out by <see cref="LeftOut"/> or <see cref="Transform"/> by an import that takes
    /// revisions: their ids, some 32 bytes each, are kept in memory to leave out their revisions as well.
    /// </summary>
    internal int MostLeftOut { get; init; } = 4_000_000;

    /// <summary>Returns a copy with the key with which the backup was encrypted.</summary>
    public ImportOptions OpenedWith(BackupKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return this with { BackupKey = key.Key };
    }
}
