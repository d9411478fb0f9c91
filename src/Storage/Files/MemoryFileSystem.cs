namespace Treepie.Storage.Files;

/// <summary>
/// Files in memory only, for an environment that lives as long as one query. Nothing is durable. Thread-safe.
/// </summary>
internal sealed class MemoryFileSystem : IFileSystem
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, MemoryFile> _files = new(StringComparer.Ordinal);

    public string Path => "(memory)";

    public void CreateDirectory()
    {
        // It always exists.
    }

    public IReadOnlyList<string> List()
    {
        lock (_lock)
            return [.. _files.Keys];
    }

    public IFile Open(string name, bool create, bool writable)
    {
        lock (_lock)
        {
            if (create)
                _files.Add(name, new MemoryFile(name));
            return _files.GetValueOrDefault(name) ?? throw new StorageException($"There is no file '{name}' in {Path}.");
        }
    }

    public void Delete(string name)
    {
        lock (_lock)
            _files.Remove(name);
    }

    public void Rename(string from, string to)
    {
        lock (_lock)
        {
            if (!_files.Remove(from, out MemoryFile? file))
                throw new StorageException($"There is no file '{from}' in {Path}.");
            file.Name = to;
            _files[to] = file;
        }
    }

    public void SyncDirectory()
    {
        // Nothing outlives the process.
    }

    /// <summary>No one else can access these files; but an environment expects a lock file.</summary>
    public IDisposable Lock(string name, bool shared)
    {
        lock (_lock)
        {
            if (!_files.TryGetValue(name, out MemoryFile? file))
                _files.Add(name, file = new MemoryFile(name));
            return file;
        }
    }

    public IFileMap Map(IFile file, long reserveBytes) => new CopiedFile(file, reserveBytes);
}
