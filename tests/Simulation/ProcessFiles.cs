using Treepie.Storage.Files;

namespace Treepie.Storage.Simulation;

/// <summary>
/// The view that one of several processes has of a directory. Reports each change that this process makes before it takes effect.
/// </summary>
/// <param name="disk">The disk that the processes share.</param>
/// <param name="onChange">Called with the operation and the file name before each change.</param>
internal sealed class ProcessFiles(SimulatedDisk disk, Action<DiskOperation, string> onChange) : IFileSystem
{
    public string Path => disk.Path;

    public void CreateDirectory() => disk.CreateDirectory();

    public IReadOnlyList<string> List() => disk.List();

    public IFile Open(string name, bool create, bool writable)
    {
        if (create)
            onChange(DiskOperation.Create, name);
        return new ProcessFile(onChange, disk.Open(name, create, writable));
    }

    public void Delete(string name)
    {
        onChange(DiskOperation.Delete, name);
        disk.Delete(name);
    }

    public void Rename(string from, string to)
    {
        onChange(DiskOperation.Rename, from);
        disk.Rename(from, to);
    }

    public void SyncDirectory()
    {
        onChange(DiskOperation.SyncDirectory, "");
        disk.SyncDirectory();
    }

    public IDisposable Lock(string name, bool shared) => disk.Lock(name, shared);

    public IFileMap Map(IFile file, long reserveBytes) => disk.Map(((ProcessFile)file).Inner, reserveBytes);

    private sealed class ProcessFile(Action<DiskOperation, string> onChange, IFile inner) : IFile
    {
        public IFile Inner => inner;

        public string Name => inner.Name;

        public long Length => inner.Length;

        public int Read(Span<byte> destination, long offset) => inner.Read(destination, offset);

        public void Write(ReadOnlySpan<byte> source, long offset)
        {
            onChange(DiskOperation.Write, Name);
            inner.Write(source, offset);
        }

        public void Sync()
        {
            onChange(DiskOperation.Sync, Name);
            inner.Sync();
        }

        public bool TryAllocate(long offset, long lengthBytes)
        {
            onChange(DiskOperation.Allocate, Name);
            return inner.TryAllocate(offset, lengthBytes);
        }

        public void Truncate(long lengthBytes)
        {
            onChange(DiskOperation.Truncate, Name);
            inner.Truncate(lengthBytes);
        }

        public void Dispose() => inner.Dispose();
    }
}
