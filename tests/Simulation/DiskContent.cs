using Treepie.Storage.Format;

namespace Treepie.Storage.Simulation;

/// <summary>
/// The bytes of a file in blocks that copies share until one of them writes. So forking a disk copies only an array of
/// references, and the hash of an unchanged block is computed once.
/// </summary>
internal sealed class DiskContent
{
    private const int BlockBytes = 4096;
    private const ulong Mixer = 0x9E3779B97F4A7C15;

    private Block?[] _blocks = [];
    private object _owner = new();

    /// <summary>Length in bytes. Bytes beyond it are zero.</summary>
    public long Length { get; private set; }

    /// <summary>Creates a content with these bytes.</summary>
    public static DiskContent Of(ReadOnlySpan<byte> bytes)
    {
        var content = new DiskContent();
        content.SetLength(bytes.Length);
        content.Write(bytes, 0);
        return content;
    }

    /// <summary>Returns a copy. From now on, each of the two copies a block before changing it.</summary>
    public DiskContent Fork()
    {
        _owner = new object();
        return new DiskContent { _blocks = [.. _blocks], Length = Length };
    }

    /// <summary>Extends with zeros, or truncates.</summary>
    public void SetLength(long length)
    {
        if (length < Length)
        {
            int last = (int)(length / BlockBytes);
            if (length % BlockBytes != 0 && last < _blocks.Length && _blocks[last] is not null)
                Own(last).AsSpan((int)(length % BlockBytes)).Clear();
            Array.Resize(ref _blocks, (int)((length + BlockBytes - 1) / BlockBytes));
        }

        Length = length;
    }

    public int Read(Span<byte> destination, long offset)
    {
        if (offset >= Length)
            return 0;

        int length = (int)Math.Min(destination.Length, Length - offset);
        for (int at = 0; at < length;)
        {
            int block = (int)((offset + at) / BlockBytes), inBlock = (int)((offset + at) % BlockBytes);
            int part = Math.Min(BlockBytes - inBlock, length - at);
            if (block < _blocks.Length && _blocks[block] is { } found)
                found.Bytes.AsSpan(inBlock, part).CopyTo(destination[at..]);
            else
                destination.Slice(at, part).Clear();
            at += part;
        }

        return length;
    }

    /// <summary>Writes, extending the content if necessary.</summary>
    public void Write(ReadOnlySpan<byte> source, long offset)
    {
        Length = Math.Max(Length, offset + source.Length);
        while (source.Length > 0)
        {
            int block = (int)(offset / BlockBytes), inBlock = (int)(offset % BlockBytes);
            int part = Math.Min(BlockBytes - inBlock, source.Length);
            bool isEmpty = block >= _blocks.Length || _blocks[block] is null;
            if (!isEmpty || source[..part].ContainsAnyExcept((byte)0))
                source[..part].CopyTo(Own(block).AsSpan(inBlock));
            source = source[part..];
            offset += part;
        }
    }

    public byte[] ToArray()
    {
        var bytes = new byte[Length];
        Read(bytes, 0);
        return bytes;
    }

    /// <summary>A hash of length and bytes. Blocks of zeros count as absent.</summary>
    public ulong Hash()
    {
        ulong hash = unchecked((ulong)Length * Mixer);
        for (int i = 0; i < _blocks.Length; i++)
        {
            if (_blocks[i] is { } block && block.Hash() is var own && own != 0)
                hash = unchecked(hash + ((own ^ (ulong)(i + 1)) * Mixer) + (own >> 29));
        }

        return hash;
    }

    /// <summary>
    /// Whether a block contains <see cref="SecretMarker"/>. Each unchanged block is searched once.
    /// </summary>
    public bool HoldsMarker() => Array.Exists(_blocks, block => block is not null && block.HoldsMarker());

    /// <summary>Returns a block that this content may change.</summary>
    private byte[] Own(int index)
    {
        if (index >= _blocks.Length)
            Array.Resize(ref _blocks, Math.Max(index + 1, (int)((Length + BlockBytes - 1) / BlockBytes)));

        Block? block = _blocks[index];
        if (block?.Owner != _owner)
            _blocks[index] = block = new Block(block, _owner);
        block.Forget();
        return block.Bytes;
    }

    private sealed class Block
    {
        private ulong _hash;
        private bool _isHashed;
        private bool? _holdsMarker;

        public Block(Block? original, object owner)
        {
            Owner = owner;
            Bytes = new byte[BlockBytes];
            original?.Bytes.CopyTo(Bytes, 0);
        }

        public object Owner { get; }

        public byte[] Bytes { get; }

        public void Forget()
        {
            _isHashed = false;
            _holdsMarker = null;
        }

        public bool HoldsMarker() => _holdsMarker ??= Bytes.AsSpan().IndexOf(SecretMarker.Bytes) >= 0;

        public ulong Hash()
        {
            if (!_isHashed)
            {
                _hash = Bytes.AsSpan().ContainsAnyExcept((byte)0) ? FrameHash.Compute(Bytes) : 0;
                _isHashed = true;
            }

            return _hash;
        }
    }
}
