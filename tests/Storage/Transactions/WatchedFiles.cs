using Treepie.Storage.Files;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// A file system that lets a test intercept calls before they reach the one below: to delay them, make them fail, or do
/// something meanwhile.
/// </summary>
internal sealed class WatchedFiles(IFileSystem files) : IFileSystem
{
    /// <summary>Called before a journal file is synced.</summary>
    public Action<string>? OnJournalSync { get; set; }

    /// <summary>Called before the data file is synced.</summary>
    public Action? OnDataSync { get; set; }

    /// <summary>Called before a file grows.</summary>
    public Action<string>? OnAllocate { get; set; }

    /// <summary>Called when a file is created.</summary>
    public Action<string>? OnCreate { get; set; }

    /// <summary>Called with offset and length before a part of the data file is read.</summary>
    public Action<long, long>? OnDataRead { get; set; }

    /// <summary>Called with offset and length when a part of the data file is announced.</summary>
    public Action<long, long>? OnDataAnnounced { get; set; }

    /// <summary>Like <see cref="OnDataAnnounced"/>, for parts that are read through the memory map.</summary>
    public Action<long, long>? OnMapAnnounced { get; set; }

    /// <summary>Called before a file is deleted.</summary>
    public Action<string>? OnDelete { get; set; }

    /// <summary>Called before a part of the data file is written.</summary>
    public Action? OnDataWrite { get; set; }

    /// <summary>Whether opening files for direct writes fails.</summary>
    public bool RefusesDirect { get; set; }

    /// <summary>Whether direct writes fail although opening a file for them succeeds.</summary>
    public bool FailsDirectWrites { get; set; }

    /// <summary>Whether cached writes are so slow that direct ones are chosen.</summary>
    public bool ForcesDirect { get; set; }

    /// <summary>
    /// The number of bytes of a journal frame after which the disk is full, or null. What is written is not synced.
    /// </summary>
    public int? FullAfterBytes { get; set; }

    public string Path => files.Path;

    public void CreateDirectory() => files.CreateDirectory();

    public IReadOnlyList<string> List() => files.List();

    public IFile Open(string name, bool create, bool writable)
    {
        if (create)
            OnCreate?.Invoke(name);
        return new WatchedFile(this, files.Open(name, create, writable));
    }

    public void Delete(string name)
    {
        OnDelete?.Invoke(name);
        files.Delete(name);
    }

    public void Rename(string from, string to) => files.Rename(from, to);

    public void SyncDirectory() => files.SyncDirectory();

    public IDisposable Lock(string name, bool shared) => files.Lock(name, shared);

    public StoragePlatform Describe(IDisposable fileLock) => files.Describe(fileLock);

    public SystemCalls Calls => files.Calls;

    public void Unmake(IDisposable fileLock, string name) => files.Unmake(fileLock, name);

    public void NameHolder(IDisposable fileLock, DateTimeOffset now) => files.NameHolder(fileLock, now);

    public IFileMap Map(IFile file, long reserveBytes) =>
        new WatchedMap(this, files.Map(((WatchedFile)file).Inner, reserveBytes));

    private sealed class WatchedMap(WatchedFiles owner, IFileMap inner) : IFileMap
    {
        public AddressRange Range => inner.Range;

        public bool SeesWrites => inner.SeesWrites;

        public void Grow(long lengthBytes) => inner.Grow(lengthBytes);

        public void Announce(long offset, long lengthBytes)
        {
            owner.OnMapAnnounced?.Invoke(offset, lengthBytes);
            inner.Announce(offset, lengthBytes);
        }

        public bool Load(long offset, long lengthBytes) => inner.Load(offset, lengthBytes);

        public void Dispose() => inner.Dispose();
    }

    private sealed class WatchedFile(WatchedFiles owner, IFile inner) : IFile
    {
        private bool _isDirect;

        public IFile Inner => inner;

        public string Name => inner.Name;

        public long Length => inner.Length;

        private bool IsData => Name == "data.treepie";

        public int Read(Span<byte> destination, long offset)
        {
            if (IsData)
                owner.OnDataRead?.Invoke(offset, destination.Length);
            return inner.Read(destination, offset);
        }

        public void Announce(long offset, long lengthBytes)
        {
            if (IsData)
                owner.OnDataAnnounced?.Invoke(offset, lengthBytes);
            inner.Announce(offset, lengthBytes);
        }

        public void Write(ReadOnlySpan<byte> source, long offset)
        {
            if (IsData)
                owner.OnDataWrite?.Invoke();
            inner.Write(source, offset);
        }

        public void Sync()
        {
            if (Name.StartsWith("journal-", StringComparison.Ordinal))
                owner.OnJournalSync?.Invoke(Name);
            else
                owner.OnDataSync?.Invoke();
            inner.Sync();
        }

        public void WriteDurable(ReadOnlySpan<byte> source, long offset)
        {
            if (Name.StartsWith("journal-", StringComparison.Ordinal))
                owner.OnJournalSync?.Invoke(Name);
            if (owner.FullAfterBytes is { } part && Name.StartsWith("journal-", StringComparison.Ordinal))
            {
                inner.Write(source[..Math.Min(part, source.Length)], offset);
                throw new DiskFullException($"'{Name}' finds no room. Nothing of this write was kept.");
            }

            if (_isDirect && owner.FailsDirectWrites)
                throw new StorageException("Direct writes are refused.");
            if (!_isDirect && owner.ForcesDirect)
                Thread.SpinWait(1_000_000);
            inner.WriteDurable(source, offset);
        }

        public bool TryWriteDirectly(bool isDirect)
        {
            if ((isDirect && owner.RefusesDirect) || !inner.TryWriteDirectly(isDirect))
                return false;

            _isDirect = isDirect;
            return true;
        }

        public bool TryAllocate(long offset, long lengthBytes)
        {
            owner.OnAllocate?.Invoke(Name);
            return inner.TryAllocate(offset, lengthBytes);
        }

        public void Truncate(long lengthBytes) => inner.Truncate(lengthBytes);

        public void Dispose() => inner.Dispose();
    }
}
