using System.Diagnostics;

namespace Treepie.Storage.Sessions;

/// <summary>An arena for bytes that live as long as the session, allocated side by side in a few arrays.</summary>
internal sealed class SessionArena
{
    private const int FirstChunkBytes = 1 << 10;
    private const int LargestChunkBytes = 64 << 10;

    private byte[] _chunk = [];
    private int _used;

    /// <summary>Returns a copy of the bytes; it never moves.</summary>
    public Memory<byte> Copy(ReadOnlySpan<byte> bytes)
    {
        Memory<byte> room = Room(bytes.Length);
        bytes.CopyTo(room.Span);
        return room;
    }

    private Memory<byte> Room(int lengthBytes)
    {
        if (lengthBytes > _chunk.Length - _used)
        {
            // Long copies get an array of their own, so that they do not leave a chunk mostly unused.
            if (lengthBytes > LargestChunkBytes / 4)
                return new byte[lengthBytes];

            _chunk = new byte[Math.Max(lengthBytes, Math.Clamp(_chunk.Length * 2, FirstChunkBytes, LargestChunkBytes))];
            _used = 0;
        }

        Memory<byte> room = _chunk.AsMemory(_used, lengthBytes);
        _used += lengthBytes;
        Debug.Assert(_used <= _chunk.Length, "a chunk has room for what is copied into it");
        return room;
    }
}
