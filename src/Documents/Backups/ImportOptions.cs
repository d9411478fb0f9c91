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

    /// <summary>
    /// The documents to leave out, with their attachments, counters, time series and revisions. Default: none.
    /// </summary>
    public LeftOutDocuments LeftOut { get; init; }

    /// <summary>
    /// A script that changes or drops documents before they are stored. It does not change revisions. Null: documents are stored
    /// as they are in the backup.
    /// </summary>
    public DocumentTransform? Transform { get; init; }

    /// <summary>
    /// The members of the database record that are not imported, by their names in it, such as <c>Expiration</c>, or those of
    /// settings of programs (<see cref="Database.Settings"/>). Default: none.
    /// </summary>
    public IReadOnlyList<string> LeftOutSettings { get; init; } = [];

    /// <summary>
    /// Whether index definitions are imported without the analyzers that they name, which the database may not have: their
    /// full-text fields then have the default analyzer. Default: false.
    /// </summary>
    public bool RemoveAnalyzers { get; init; }

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
    /// The maximum number of documents that an import with revisions can leave out. It remembers each of them, in about 32 bytes,
    /// to leave out its revisions as well.
    /// </summary>
    internal int MostLeftOut { get; init; } = 4_000_000;

    /// <summary>Returns a copy with the key with which the backup was encrypted.</summary>
    public ImportOptions OpenedWith(BackupKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return this with { BackupKey = key.Key };
    }
}
