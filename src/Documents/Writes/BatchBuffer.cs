using System.Buffers;

namespace Treepie.Writes;

/// <summary>The buffer for a batch's parsed documents: rented blocks, filled one after the other and returned together.</summary>
internal sealed class BatchBuffer : IDisposable
{
    private const int FirstBlockBytes = 4 * 1024;
    private const int LargestSharedBlockBytes = 1024 * 1024;

    private readonly List<byte[]> _blocks = [];
    private int _used;

    /// <summary>
    /// Whether the blocks are zeroed before they are returned, since others may rent them, and memory dumps would contain them.
    /// </summary>
    public bool IsSecret { get; set; }

    /// <summary>The number of bytes taken.</summary>
    public long LengthBytes { get; private set; }

    /// <summary>Returns free space of at least a length; what <see cref="Take"/> does not take is returned again.</summary>
    public Span<byte> Room(int lengthBytes)
    {
        if (_blocks.Count == 0 || _blocks[^1].Length - _used < lengthBytes)
        {
            int doubled = _blocks.Count == 0 ? FirstBlockBytes : Math.Min(LargestSharedBlockBytes, _blocks[^1].Length * 2);
            _blocks.Add(ArrayPool<byte>.Shared.Rent(Math.Max(doubled, lengthBytes)));
            _used = 0;
        }

        return _blocks[^1].AsSpan(_used);
    }

    /// <summary>Takes the first bytes of the space returned last.</summary>
    public ReadOnlyMemory<byte> Take(int lengthBytes)
    {
        var taken = new ReadOnlyMemory<byte>(_blocks.Count == 0 ? [] : _blocks[^1], _used, lengthBytes);
        _used += lengthBytes;
        LengthBytes += lengthBytes;
        return taken;
    }

    /// <summary>Returns the blocks; memory taken from them must no longer be read.</summary>
    public void Dispose()
    {
        foreach (byte[] block in _blocks)
            ArrayPool<byte>.Shared.Return(block, clearArray: IsSecret);
        _blocks.Clear();
        _used = 0;
        LengthBytes = 0;
    }
}
