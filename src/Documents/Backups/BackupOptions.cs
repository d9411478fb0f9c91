using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>How to back up. Immutable.</summary>
public sealed record BackupOptions
{
    /// <summary>What it is made of. Default <see cref="BackupKind.Logical"/>.</summary>
    public BackupKind Kind { get; init; }

    /// <summary>
    /// Where it goes on from, as the report of the backup before says (<see cref="BackupReport.Link"/>): makes a logical backup
    /// or a snapshot an increment, and is needed for a log. Null: a backup that needs no other.
    /// </summary>
    public BackupLink? Since { get; init; }

    /// <summary>
    /// Who takes the log, of several that do: each has a place of its own in it, which is that of <see cref="Since"/>, and what
    /// one of them has not taken is kept for him. Places are remembered until the database is closed; those of tasks, which are
    /// not among these, for ever. Default: the empty name.
    /// </summary>
    public string LogReader { get; init; } = "";

    /// <summary>Whether a task takes it, whose place is in its state.</summary>
    internal bool IsOfTask { get; init; }

    /// <summary>
    /// Of snapshots: reads all documents once more and puts their content hash into it, the same that a logical backup of that
    /// state has; who restores it compares. Costs what reading them does, also for a small increment. Default false. A logical
    /// backup always has it.
    /// </summary>
    public bool HashesContent { get; init; }

    /// <summary>Compression. Default <see cref="BackupCompression.ZstdFastest"/>.</summary>
    public BackupCompression Compression { get; init; }

    /// <summary>
    /// Key that seals the backup, whether the database is encrypted or not. Null: a plain backup of a plain database; of an
    /// encrypted one none, since a database does not keep its key, but that of its catalogue
    /// (<see cref="DatabaseCatalog.BackupAsync"/>), which has it, is sealed with it. Keep it: who loses it has no backup.
    /// </summary>
    public EncryptionKey? EncryptionKey { get; init; }

    /// <summary>Whether a key was given, for programs that know nothing of the storage below.</summary>
    public bool HasKey => EncryptionKey is not null;

    /// <summary>
    /// Makes a plain backup also of an encrypted database: everybody who has the file can then read it. Default false.
    /// </summary>
    public bool AllowPlain { get; init; }

    /// <summary>What goes into it. Default all.</summary>
    public BackupContent Content { get; init; } = BackupContent.All;

    /// <summary>Collections (case-insensitive) whose documents and tombstones go into it; null: all.</summary>
    public IReadOnlyList<string>? Collections { get; init; }

    /// <summary>
    /// Share of its time, in percent from 5 to 100, that the backup works while others commit; the rest is theirs. Where nobody
    /// commits it does not rest, and it ends whatever others do: 20 takes at most five times as long, during which the state that
    /// it is of stays occupied. Default 100, which never rests; of tasks 12
    /// (<see cref="BackupTasks.BackupTask.PercentWhileWriting"/>).
    /// </summary>
    public int PercentWhileWriting { get; init; } = BackupPace.Full;

    /// <summary>The same, sealed with a key.</summary>
    public BackupOptions SealedWith(BackupKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return this with { EncryptionKey = key.Key };
    }
}
