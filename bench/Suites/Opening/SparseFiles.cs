using Treepie.Storage;
using Treepie.Storage.Files;

namespace Treepie.Bench.Suites.Opening;

/// <summary>
/// The real disk, where a file grows without blocks, and which takes no more writes once its process is to look dead.
/// </summary>
internal sealed class SparseFiles(string path) : IFileSystem
{
    private readonly DiskFileSystem _files = new(path);

    /// <summary>Whether the process counts as killed: what it writes from then on fails.</summary>
    public bool IsDead { get; set; }

    public string Path => _files.Path;

    public void CreateDirectory() => _files.CreateDirectory();

    public IReadOnlyList<string> List() => _files.List();

    public IFile Open(string name, bool create, bool writable) =>
        new SparseFile(this, (DiskFile)_files.Open(name, create, writable), System.IO.Path.Combine(Path, name));

    public void Delete(string name)
    {
        ThrowIfDead();
        _files.Delete(name);
    }

    public void Rename(string from, string to) => _files.Rename(from, to);

    public void SyncDirectory() => _files.SyncDirectory();

    public IDisposable Lock(string name, bool shared) => _files.Lock(name, shared);

    public IFileMap Map(IFile file, long reserveBytes) => _files.Map(((SparseFile)file).Inner, reserveBytes);

    private void ThrowIfDead()
    {
        if (IsDead)
            throw new StorageException("The process that wrote is dead.");
    }

    private sealed class SparseFile(SparseFiles owner, DiskFile inner, string path) : IFile
    {
        public DiskFile Inner => inner;

        public string Name => inner.Name;

        public long Length => inner.Length;

        public int Read(Span<byte> destination, long offset) => inner.Read(destination, offset);

        public void Write(ReadOnlySpan<byte> source, long offset)
        {
            owner.ThrowIfDead();
            inner.Write(source, offset);
        }

        public void Sync() => inner.Sync();

        public bool TryAllocate(long offset, long lengthBytes)
        {
            owner.ThrowIfDead();
            using FileStream stream = new(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete);
            stream.SetLength(offset + lengthBytes);
            return true;
        }

        public void Truncate(long lengthBytes)
        {
            owner.ThrowIfDead();
            inner.Truncate(lengthBytes);
        }

        public void Dispose() => inner.Dispose();
    }
}
