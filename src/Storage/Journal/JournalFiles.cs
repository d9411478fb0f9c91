using System.Globalization;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>The journal files of a directory: which there are, how large, and for which use each was last taken.</summary>
internal sealed class JournalFiles(IFileSystem files) : IDisposable
{
    private const int ZeroStepBytes = 1 << 20;

    private readonly Lock _lock = new();
    private readonly List<JournalFile> _all = [];

    /// <summary>Bytes of all files.</summary>
    public long TotalBytes
    {
        get
        {
            lock (_lock)
                return _all.Sum(file => file.LengthBytes);
        }
    }

    /// <summary>Opens every journal file of the directory and reads its header.</summary>
    public IReadOnlyList<JournalFile> OpenAll(Guid storeId, bool writable)
    {
        var block = new byte[JournalFileHeader.BlockBytes];
        foreach (string name in files.List().Where(IsJournal).Order(StringComparer.Ordinal))
        {
            IFile file = files.Open(name, create: false, writable);
            JournalFileHeader? header = null;
            if (file.Read(block, 0) == block.Length && JournalFileHeader.TryRead(block, Path.Combine(files.Path, name), out JournalFileHeader read))
                header = read;
            _all.Add(new JournalFile(file, file.Length) { Header = header });
            if (header is { } own && own.StoreId != storeId)
            {
                Dispose();
                throw new ForeignDataException(
                    $"'{Path.Combine(files.Path, name)}' belongs to another store ({own.StoreId}, this one is {storeId}): put the right files together. Nothing was written.");
            }
        }

        return _all;
    }

    /// <summary>
    /// A file for a new use: the largest one whose frames no recovery needs, if it is large enough, else a new one.
    /// Throws <see cref="DiskFullException"/> with nothing changed.
    /// </summary>
    public JournalFile Take(long neededBytes, long wantedBytes, long oldestNeededUse)
    {
        lock (_lock)
        {
            JournalFile? best = Spares(oldestNeededUse).MaxBy(file => file.LengthBytes);
            if (best is not null && best.LengthBytes >= neededBytes)
            {
                best.IsTaken = true;
                return best;
            }

            JournalFile created = Create(Math.Max(neededBytes, wantedBytes));
            created.IsTaken = true;
            return created;
        }
    }

    /// <summary>Makes sure that a spare file of this size is ready; deletes smaller spares. Called in the background.</summary>
    public void PrepareSpare(long wantedBytes, long oldestNeededUse)
    {
        lock (_lock)
        {
            List<JournalFile> spares = [.. Spares(oldestNeededUse)];
            if (!spares.Exists(file => file.LengthBytes >= wantedBytes))
                Create(wantedBytes);
            else
                spares.Remove(spares.First(file => file.LengthBytes >= wantedBytes));

            foreach (JournalFile small in spares)
            {
                _all.Remove(small);
                small.File.Dispose();
                files.Delete(small.File.Name);
            }
        }
    }

    /// <summary>Frames of uses before this one are superseded by a checkpoint.</summary>
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
        name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal) && name.EndsWith(FormatLimits.JournalSuffix, StringComparison.Ordinal);

    private IEnumerable<JournalFile> Spares(long oldestNeededUse) =>
        _all.Where(file => !file.IsTaken && (file.Header is null || file.Header.Value.Use < oldestNeededUse));

    /// <summary>Zeros are really written: a block that was only allocated costs the file system a journal entry at its first sync.</summary>
    private JournalFile Create(long lengthBytes)
    {
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
        catch (DiskFullException)
        {
            file.Dispose();
            files.Delete(name);
            throw;
        }
        catch
        {
            file.Dispose();
            throw;
        }

        var created = new JournalFile(file, lengthBytes);
        _all.Add(created);
        return created;
    }

    private string FreeName()
    {
        var taken = files.List().ToHashSet(StringComparer.Ordinal);
        for (int number = 1; ; number++)
        {
            string name = string.Create(CultureInfo.InvariantCulture, $"{FormatLimits.JournalPrefix}{number:d4}{FormatLimits.JournalSuffix}");
            if (!taken.Contains(name))
                return name;
        }
    }
}
