using System.Diagnostics;
using System.Globalization;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>The journal files of a directory: their sizes, the use each was last taken for, and which are spare.</summary>
/// <remarks>
/// Invariants. 1. A file that is taken, or kept for the log, is not written over. 2. One thread at a time creates files, and not
/// while it holds the lock of the list. 3. Files kept for the log are given up oldest first.
/// </remarks>
internal sealed class JournalFiles(IFileSystem files) : IDisposable
{
    private const int ZeroStepBytes = 1 << 20;

    /// <summary>
    /// This many files are enough to keep writing: one is written while a checkpoint releases the other.
    /// </summary>
    private const int FilesOfFullDisk = 2;

    private readonly Lock _lock = new();
    private long _keptFrom = long.MaxValue;
    private long _budgetBytes;
    private long _givenUp;
    private readonly Lock _creation = new(); // taken before _lock
    private readonly List<JournalFile> _all = [];

    /// <summary>Total size of all files in bytes.</summary>
    public long TotalBytes
    {
        get
        {
            lock (_lock)
                return _all.Sum(file => file.LengthBytes);
        }
    }

    /// <summary>Whether files are kept until their frames are archived.</summary>
    public bool IsLogKept => Volatile.Read(ref _keptFrom) != long.MaxValue;

    /// <summary>
    /// Keeps existing files from a use on, and future ones, until they are archived or exceed a number of bytes in total; 0
    /// stops keeping files.
    /// </summary>
    public void Keep(long budgetBytes, long fromUse)
    {
        lock (_lock)
        {
            _budgetBytes = budgetBytes;
            if (budgetBytes == 0)
                _keptFrom = long.MaxValue;
            else if (!IsLogKept)
                _keptFrom = Math.Max(fromUse, _all.Min(file => file.Header?.Use) ?? 0);
        }
    }

    /// <summary>Stops keeping the uses before this one, because they are archived.</summary>
    public void ReleaseKept(long use)
    {
        lock (_lock)
            if (IsLogKept)
                _keptFrom = Math.Max(_keptFrom, use);
    }

    /// <summary>Describes the kept files.</summary>
    public EnvironmentLogState DescribeKept()
    {
        lock (_lock)
            return new EnvironmentLogState(IsLogKept, _budgetBytes, _all.Where(IsKept).Sum(file => file.LengthBytes), _givenUp);
    }

    /// <summary>
    /// Opens every journal file of the directory and reads its header. A read-only opener may run concurrently with a writer
    /// that deletes spare files, so it skips files that have disappeared.
    /// </summary>
    public IReadOnlyList<JournalFile> OpenAll(Guid storeId, bool writable)
    {
        var block = new byte[JournalFileHeader.BlockBytes];
        foreach (string name in files.List().Where(IsJournal).Order(StringComparer.Ordinal))
        {
            IFile file;
            try
            {
                file = files.Open(name, create: false, writable);
            }
            catch (Exception error)
                when (!writable && (error as FileNotFoundException ?? error.InnerException) is FileNotFoundException)
            {
                continue;
            }

            JournalFileHeader? header = null;
            if (file.Read(block, 0) == block.Length
                && JournalFileHeader.TryRead(block, Path.Combine(files.Path, name), out JournalFileHeader read))
                header = read;
            _all.Add(new JournalFile(file, file.Length) { Header = header });
            if (header is { } own && own.StoreId != storeId)
            {
                Dispose();
                throw new ForeignDataException(
                    $"'{Path.Combine(files.Path, name)}' belongs to another store ({own.StoreId}, this one is {storeId}): put "
                        + $"the right files together. Nothing was written.");
            }
        }

        return _all;
    }

    /// <summary>Returns the file of a use, or null.</summary>
    public JournalFile? Find(long use)
    {
        lock (_lock)
            return _all.Find(file => file.Header?.Use == use);
    }

    /// <summary>
    /// Takes a file for a new use: the largest one whose frames no recovery needs, if it is large enough, otherwise a new
    /// one. Throws <see cref="DiskFullException"/> with nothing changed.
    /// </summary>
    public JournalFile Take(long neededBytes, long wantedBytes, long oldestNeededUse)
    {
        if (TryTakeSpare() is { } ready)
            return MakeLengthDurable(ready);

        lock (_creation)
        {
            if (TryTakeSpare() is { } made)
                return MakeLengthDurable(made);

            JournalFile created = Create(Math.Max(neededBytes, wantedBytes));
            Debug.Assert(created.LengthBytes >= neededBytes, "a new file has room for what it is created for");
            lock (_lock)
                created.IsTaken = true;
            return created;
        }

        JournalFile? TryTakeSpare()
        {
            lock (_lock)
            {
                TrimKept(oldestNeededUse);
                JournalFile? best = Spares(oldestNeededUse).MaxBy(file => file.LengthBytes);
                if (best is null || best.LengthBytes < neededBytes)
                    return null;

                Debug.Assert(!IsKept(best), "a file that is kept for the log is not written over");
                best.IsTaken = true;
                return best;
            }
        }
    }

    /// <summary>
    /// Creates spare files until this many of this size are ready, and deletes other spares. Called in the background: a file
    /// can be taken while another is being created.
    /// </summary>
    public void PrepareSpares(int count, long wantedBytes, long oldestNeededUse)
    {
        lock (_creation)
        {
            lock (_lock)
                TrimKept(oldestNeededUse);
            while (Large() < count)
                Create(wantedBytes);

            List<JournalFile> surplus;
            lock (_lock)
            {
                surplus = [.. Spares(oldestNeededUse).OrderBy(file => file.LengthBytes < wantedBytes).Skip(count)];
                _all.RemoveAll(surplus.Contains);
            }

            foreach (JournalFile file in surplus)
            {
                file.File.Dispose();
                files.Delete(file.File.Name);
            }
        }

        int Large()
        {
            lock (_lock)
                return Spares(oldestNeededUse).Count(file => file.LengthBytes >= wantedBytes);
        }
    }

    /// <summary>
    /// Deletes files longer than a limit once a clean close is durable, after which no recovery needs any: an import leaves
    /// large ones, and a closed store may never be opened again. Files kept for the log stay, and so do two others, small ones
    /// if possible: with them the next session can delete even if the disk is full by then. If deleting fails, the next session
    /// reuses what is left. The deletions need not be made durable: a file that reappears is harmless.
    /// </summary>
    public void GiveBack(long keptBytes)
    {
        List<JournalFile> surplus;
        lock (_lock)
            surplus = _all.FindAll(file => file.LengthBytes > keptBytes && !IsKept(file));
        if (surplus.Count == 0)
            return;

        int missing = FilesOfFullDisk - Small();
        while (missing > 0 && TryCreate(keptBytes))
            missing--;
        surplus = [.. surplus.OrderBy(file => file.LengthBytes).Skip(missing)];
        lock (_lock)
            _all.RemoveAll(surplus.Contains);

        foreach (JournalFile file in surplus)
        {
            file.File.Dispose();
            TryDelete(file.File.Name);
        }

        int Small()
        {
            lock (_lock)
                return _all.Count(file => file.LengthBytes <= keptBytes && !IsKept(file));
        }

        bool TryCreate(long lengthBytes)
        {
            try
            {
                lock (_creation)
                    Create(lengthBytes);
                return true;
            }
            catch (Exception error) when (error is StorageException or IOException)
            {
                return false;
            }
        }
    }

    /// <summary>
    /// Deletes the files whose last use was before this one, which no recovery needs, because their headers contain keys that
    /// are no longer in force.
    /// </summary>
    public void DropBefore(long oldestNeededUse)
    {
        List<JournalFile> dropped;
        lock (_lock)
        {
            dropped = _all.FindAll(file => !file.IsTaken && file.Header?.Use < oldestNeededUse);
            _givenUp += dropped.Count(IsKept);
            if (IsLogKept)
                _keptFrom = Math.Max(_keptFrom, oldestNeededUse);
            _all.RemoveAll(dropped.Contains);
        }

        foreach (JournalFile file in dropped)
        {
            file.File.Dispose();
            files.Delete(file.File.Name);
        }
    }

    /// <summary>Releases the files of uses before this one, whose frames a checkpoint has superseded.</summary>
    public void Release(long oldestNeededUse)
    {
        lock (_lock)
        {
            foreach (JournalFile file in _all)
                if (file.Header is { } header && header.Use < oldestNeededUse)
                    file.IsTaken = false;
        }
    }

    public void Dispose()
    {
        lock (_lock)
        {
            foreach (JournalFile file in _all)
                file.File.Dispose();
            _all.Clear();
        }
    }

    private static bool IsJournal(string name) =>
        name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal)
            && name.EndsWith(FormatLimits.JournalSuffix, StringComparison.Ordinal);

    private bool IsKept(JournalFile file) => file.Header?.Use >= _keptFrom;

    /// <summary>
    /// Syncs a file left by an earlier session before its length is recorded in a header: a session killed while creating the
    /// file may have left the length only in the system's cache, and after a power loss it would look like a truncated file.
    /// </summary>
    private JournalFile MakeLengthDurable(JournalFile file)
    {
        Debug.Assert(file.IsTaken, "1: only a file that is taken is about to be written");
        if (file.IsLengthDurable)
            return file;

        try
        {
            file.File.Sync();
        }
        catch
        {
            lock (_lock)
                file.IsTaken = false;
            throw;
        }

        file.IsLengthDurable = true;
        return file;
    }

    /// <summary>
    /// Stops keeping the oldest files of the log while they exceed the budget, except files that a recovery needs. Must be
    /// called under the lock.
    /// </summary>
    private void TrimKept(long oldestNeededUse)
    {
        Debug.Assert(_lock.IsHeldByCurrentThread, "3: files are given up under the lock of the list");
        if (!IsLogKept)
            return;

        var kept = new Queue<JournalFile>(_all.Where(IsKept).OrderBy(file => file.Header?.Use));
        long bytes = kept.Sum(file => file.LengthBytes);
        while (bytes > _budgetBytes
            && kept.TryDequeue(out JournalFile? oldest)
            && oldest.Header is { } header
            && header.Use < oldestNeededUse)
        {
            Debug.Assert(header.Use >= _keptFrom, "files are given up oldest first");
            _keptFrom = header.Use + 1;
            _givenUp++;
            bytes -= oldest.LengthBytes;
        }
    }

    private IEnumerable<JournalFile> Spares(long oldestNeededUse) =>
        _all.Where(
            file => !file.IsTaken && (file.Header is null || file.Header.Value.Use < Math.Min(oldestNeededUse, _keptFrom)));

    /// <summary>
    /// Creates a file filled with written zeros: a block that is only allocated costs the file system a journal entry at its
    /// first sync.
    /// </summary>
    private JournalFile Create(long lengthBytes)
    {
        Debug.Assert(
            _creation.IsHeldByCurrentThread && !_lock.IsHeldByCurrentThread, "2: files are created one at a time");
        lengthBytes = (lengthBytes + FrameHeader.AlignmentBytes - 1) / FrameHeader.AlignmentBytes * FrameHeader.AlignmentBytes;
        string name = FreeName();
        IFile file = files.Open(name, create: true, writable: true);
        try
        {
            file.Allocate(lengthBytes);
            var zeros = new byte[Math.Min(ZeroStepBytes, lengthBytes)];
            for (long offset = 0; offset < lengthBytes; offset += zeros.Length)
                file.Write(zeros.AsSpan(0, (int)Math.Min(zeros.Length, lengthBytes - offset)), offset);
            file.Sync();
            files.SyncDirectory();
        }
        catch
        {
            file.Dispose();
            TryDelete(name);
            throw;
        }

        var created = new JournalFile(file, lengthBytes) { IsLengthDurable = true };
        lock (_lock)
            _all.Add(created);
        return created;
    }

    /// <summary>Deletes a file that nobody needs. The next session reuses or deletes what is left.</summary>
    private void TryDelete(string name)
    {
        try
        {
            files.Delete(name);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            // It stays.
        }
    }

    private string FreeName()
    {
        var taken = files.List().ToHashSet(StringComparer.Ordinal);
        for (int number = 1; ; number++)
        {
            string name = string.Create(
                CultureInfo.InvariantCulture, $"{FormatLimits.JournalPrefix}{number:d4}{FormatLimits.JournalSuffix}");
            if (!taken.Contains(name))
                return name;
        }
    }
}
