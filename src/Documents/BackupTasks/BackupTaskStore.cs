using System.Buffers.Binary;
using System.Text;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.BackupTasks;

/// <summary>
/// Stores the backup tasks of a database in a tree of its environment: durable, and encrypted if the environment is. A marker
/// file next to it indicates that there are tasks, so that databases without tasks need not be opened to find out.
/// Thread-safe.
/// </summary>
internal sealed class BackupTaskStore(StorageEnvironment environment, string directory)
{
    /// <summary>The name of the marker file.</summary>
    public const string MarkerFile = "backup-tasks";

    /// <summary>The maximum number of tasks of a database.</summary>
    private const int MaxTasks = 100;

    /// <summary>Returns the store of an open database.</summary>
    public static BackupTaskStore Of(Database database)
    {
        var store = new BackupTaskStore(database.Environment, database.DataDirectory);
        database.Tombstones.BackedUp ??= store.BackedUp;
        return store;
    }

    /// <summary>Returns whether a database in a directory may have tasks, without opening it.</summary>
    public static bool MayHaveTasks(string directory) => File.Exists(Path.Combine(directory, MarkerFile));

    /// <summary>Returns all tasks, by id.</summary>
    public IReadOnlyList<BackupTaskRecord> List()
    {
        using ReadTransaction read = environment.BeginRead();
        if (read.FindTree(TreeNames.BackupTasks) is not { } tree)
            return [];

        var found = new List<BackupTaskRecord>();
        using Cursor cursor = tree.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            found.Add(BackupTaskRecord.FromJson(cursor.Value));
        return found;
    }

    /// <summary>
    /// Returns the etag up to which backups by etag have all changes, at most <paramref name="etag"/>. Disabled tasks do not
    /// count: they begin with a full backup if they are enabled after what they need is gone.
    /// </summary>
    public long BackedUp(long etag)
    {
        foreach (BackupTaskRecord record in List())
            if (!record.Task.IsDisabled
                && record.State.Link is { } link
                && BackupLink.Parse(link).Dump is { } point
                && point.StoreId == environment.StoreId)
                etag = Math.Min(etag, point.Etag);
        return etag;
    }

    /// <summary>Returns the log backups of a task that are older than the given backup, oldest first.</summary>
    public IReadOnlyList<KeptLog> ListLogs(long id, string before)
    {
        using ReadTransaction read = environment.BeginRead();
        if (read.FindTree(TreeNames.BackupLogs) is not { } tree)
            return [];

        var found = new List<KeptLog>();
        using Cursor cursor = tree.OpenCursor();
        byte[] end = LogKey(id, before);
        for (bool more = cursor.Seek(LogKey(id, "")); more && cursor.Key.SequenceCompareTo(end) < 0; more = cursor.MoveNext())
            found.Add(
                JsonSerializer.Deserialize(cursor.Value, BackupTaskJson.Default.KeptLog)
                    ?? throw new BackupTaskException("A stretch of the log that a backup task keeps is empty."));
        return found;
    }

    /// <summary>Records the destinations of log backups; removes those that have none.</summary>
    public async Task PutLogsAsync(long id, IReadOnlyList<KeptLog> logs) => await environment.WriteAsync(
        transaction =>
        {
            Tree tree = transaction.GetOrCreateTree(TreeNames.BackupLogs);
            foreach (KeptLog log in logs)
                PutLog(tree, id, log);
            return true;
        },
        CancellationToken.None).ConfigureAwait(false);

    /// <summary>Returns a task; null if it does not exist.</summary>
    public BackupTaskRecord? Find(long id)
    {
        using ReadTransaction read = environment.BeginRead();
        return read.FindTree(TreeNames.BackupTasks) is { } tree && tree.TryGet(Key(id), out ReadOnlySpan<byte> value)
            ? BackupTaskRecord.FromJson(value)
            : null;
    }

    /// <summary>Adds a task with a new id, or replaces the task of its id and keeps its state. Returns the id.</summary>
    /// <exception cref="BackupTaskException">There are too many tasks, or none has the id.</exception>
    public async Task<long> PutAsync(BackupTask task, CancellationToken cancellationToken)
    {
        // The marker is written first: a superfluous marker only causes a database to be opened, but without one tasks would
        // not run.
        PrivateFiles.CreateFile(Path.Combine(directory, MarkerFile), FileMode.Create).Dispose();
        return await environment.WriteAsync(
            transaction =>
            {
                Tree tree = transaction.GetOrCreateTree(TreeNames.BackupTasks);
                BackupTaskRecord? before = task.Id == 0 ? null : tree.TryGet(Key(task.Id), out ReadOnlySpan<byte> value)
                    ? BackupTaskRecord.FromJson(value)
                    : throw new BackupTaskException(
                        $"There is no backup task {task.Id}. Leave the number out to make a new one.");
                (long last, int count) = Last(tree);
                if (before is null && count >= MaxTasks)
                    throw new BackupTaskException(
                        $"A database can have {MaxTasks} backup tasks, and this one has them. Delete one first.");
                BackupTask numbered = before is null
                    ? task with { Id = last + 1 }
                    : task with { CreatedAt = before.Task.CreatedAt };
                tree.Put(
                    Key(numbered.Id),
                    new BackupTaskRecord(
                        BackupTaskRecord.CurrentFormat, directory, numbered, before?.State ?? new BackupTaskState()).ToJson());
                return numbered.Id;
            },
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Changes the current record of a task, and records a log backup in the same transaction; returns false if the task does
    /// not exist.
    /// </summary>
    public async Task<bool> ChangeAsync(long id, Func<BackupTaskRecord, BackupTaskRecord> change, KeptLog? log = null) =>
        await environment.WriteAsync(
            transaction =>
            {
                Tree tree = transaction.GetOrCreateTree(TreeNames.BackupTasks);
                if (!tree.TryGet(Key(id), out ReadOnlySpan<byte> value))
                    return false;
                tree.Put(Key(id), change(BackupTaskRecord.FromJson(value)).ToJson());
                if (log is not null)
                    PutLog(transaction.GetOrCreateTree(TreeNames.BackupLogs), id, log);
                return true;
            },
            CancellationToken.None).ConfigureAwait(false);

    /// <summary>Deletes a task; its backups are kept. Returns false if it does not exist.</summary>
    public async Task<bool> DeleteAsync(long id, CancellationToken cancellationToken)
    {
        (bool deleted, bool isLast) = await environment.WriteAsync(
            transaction =>
            {
                Tree tree = transaction.GetOrCreateTree(TreeNames.BackupTasks);
                bool found = tree.Delete(Key(id));
                ForgetLogs(transaction, id);
                return (found, Last(tree).Count == 0);
            },
            cancellationToken).ConfigureAwait(false);
        if (isLast)
            File.Delete(Path.Combine(directory, MarkerFile));
        return deleted;
    }

    private static (long Last, int Count) Last(Tree tree)
    {
        (long last, int count) = (0, 0);
        using Cursor cursor = tree.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            (last, count) = (BinaryPrimitives.ReadInt64BigEndian(cursor.Key), count + 1);
        return (last, count);
    }

    private static void PutLog(Tree tree, long id, KeptLog log)
    {
        if (log.Addresses.Count == 0)
            tree.Delete(LogKey(id, log.Object));
        else
            tree.Put(LogKey(id, log.Object), JsonSerializer.SerializeToUtf8Bytes(log, BackupTaskJson.Default.KeptLog));
    }

    private static void ForgetLogs(WriteTransaction transaction, long id)
    {
        Tree tree = transaction.GetOrCreateTree(TreeNames.BackupLogs);
        var keys = new List<byte[]>();
        using (Cursor cursor = tree.OpenCursor())
            for (bool more = cursor.Seek(LogKey(id, "")); more && cursor.Key.StartsWith(Key(id)); more = cursor.MoveNext())
                keys.Add(cursor.Key.ToArray());
        foreach (byte[] key in keys)
            tree.Delete(key);
    }

    /// <summary>The key is the id of the task followed by the name, which starts with the time.</summary>
    private static byte[] LogKey(long id, string name) => [.. Key(id), .. Encoding.UTF8.GetBytes(name)];

    private static byte[] Key(long id)
    {
        byte[] key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, id);
        return key;
    }
}
