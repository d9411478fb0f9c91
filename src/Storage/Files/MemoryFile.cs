using System.Diagnostics;

namespace Treepie.Storage.Files;

/// <summary>A file in memory. Keeps the memory of its greatest length until the file is dropped.</summary>
internal sealed class MemoryFile(string name) : IFile
{
    private readonly Lock _lock = new();
    private byte[] _bytes = [];
    private int _length;

    public string Name { get; set; } = name;

    public long Length
    {
        get
        {
            lock (_lock)
                return _length;
        }
    }

    public int Read(Span<byte> destination, long offset)
    {
        lock (_lock)
        {
            int length = (int)Math.Clamp(_length - offset, 0, destination.Length);
            if (length > 0)
                _bytes.AsSpan((int)offset, length).CopyTo(destination);
            return length;
        }
    }

    public void Write(ReadOnlySpan<byte> source, long offset)
    {
        lock (_lock)
        {
            Grow(offset + source.Length);
            source.CopyTo(_bytes.AsSpan((int)offset));
        }
    }

    public void Sync()
    {
        // Nothing outlives the process.
    }

    public bool TryAllocate(long offset, long lengthBytes)
    {
        lock (_lock)
            Grow(offset + lengthBytes);
        return true;
    }

    public void Truncate(long lengthBytes)
    {
        lock (_lock)
        {
            if (lengthBytes >= _length)
                return;
            _bytes.AsSpan((int)lengthBytes, _length - (int)lengthBytes).Clear(); // it must read as zeros if the file grows again
            _length = (int)lengthBytes;
        }
    }

    public void Dispose()
    {
        // The file system keeps it.
    }

    private void Grow(long length)
    {
        Debug.Assert(_lock.IsHeldByCurrentThread, "a file grows under its lock");
        if (length > Array.MaxLength)
            throw new DiskFullException(
                $"The file '{Name}' in memory would have {length:N0} bytes; {Array.MaxLength:N0} is the most.");
        if (length > _bytes.Length)
            Array.Resize(ref _bytes, (int)Math.Min(Array.MaxLength, Math.Max(length, _bytes.Length * 2L)));
        _length = Math.Max(_length, (int)length);
    }
}
