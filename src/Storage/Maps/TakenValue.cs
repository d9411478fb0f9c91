using System.Buffers;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Maps;

/// <summary>
/// A value that is read while others may write: first its bytes are taken, then the reader finds out whether they were left
/// alone, and only then they become a value. So no serializer ever sees half of one value and half of another; plain ones may,
/// and nobody sees what they made of it.
/// </summary>
internal struct TakenValue<T, TSerializer> : ITaken
    where TSerializer : struct, IMapSerializer<T>
{
    private Buffer64 _small;
    private byte[]? _large;
    private int _length;

    /// <summary>Takes bytes, in place of what was taken before.</summary>
    public void Take(ReadOnlySpan<byte> bytes)
    {
        _length = bytes.Length;
        if (bytes.Length <= Buffer64.Length)
        {
            bytes.CopyTo(_small);
            return;
        }

        if (_large is null || _large.Length < bytes.Length)
        {
            Drop();
            _large = ArrayPool<byte>.Shared.Rent(bytes.Length);
        }

        bytes.CopyTo(_large);
    }

    /// <summary>The value.</summary>
    public T Finish()
    {
        try
        {
            ReadOnlySpan<byte> small = _small;
            return TSerializer.Read(_length <= Buffer64.Length ? small[.._length] : _large.AsSpan(0, _length));
        }
        finally
        {
            Drop();
        }
    }

    /// <summary>Forgets what was taken.</summary>
    public void Drop()
    {
        if (_large is { } large)
        {
            _large = null;
            ArrayPool<byte>.Shared.Return(large);
        }
    }

    [InlineArray(Length)]
    private struct Buffer64
    {
        public const int Length = 64;

        private byte _first;
    }
}
