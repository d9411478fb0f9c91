using System.Buffers;

namespace Treepie.Writes;

/// <summary>Room for the parsed documents of a batch: rented blocks filled one after the other, given back together.</summary>
internal sealed class BatchBuffer : IDisposable
{
    private const int FirstBlockBytes = 4 * 1024;
    private const int LargestSharedBlockBytes = 1024 * 1024;

    private readonly List<byte[]> _blocks = [];
    private int _used;

    /// <summary>
    /// Whether the blocks are zeroed before they go back, where anybody may get them, and any dump of memory shows them.
    /// </summary>
    public bool IsSecret { get; set; }

    /// <summary>Bytes handed out.</summary>
    public long LengthBytes { get; private set; }

    /// <summary>Room of at least a length; what <see cref="Take"/> does not take is handed out again.</summary>
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

    /// <summary>Keeps the first bytes of the room given last.</summary>
    public ReadOnlyMemory<byte> Take(int lengthBytes)
    {
        var taken = new ReadOnlyMemory<byte>(_blocks.Count == 0 ? [] : _blocks[^1], _used, lengthBytes);
        _used += lengthBytes;
        LengthBytes += lengthBytes;
        return taken;
    }

    /// <summary>Gives the blocks back; nothing taken may be read any more.</summary>
    public void Dispose()
    {
        foreach (byte[] block in _blocks)
            ArrayPool<byte>.Shared.Return(block, clearArray: IsSecret);
        _blocks.Clear();
        _used = 0;
        LengthBytes = 0;
    }
}
