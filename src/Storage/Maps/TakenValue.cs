using System.Buffers;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Maps;

/// <summary>
/// A value that is read while others may write: its bytes are copied, then the reader checks that they were not changed
/// meanwhile, and only then deserializes them. So a serializer never sees a mix of two values, except for plain serializers,
/// whose result is then discarded.
/// </summary>
internal struct TakenValue<T, TSerializer> : ITaken
    where TSerializer : struct, IMapSerializer<T>
{
    private Buffer64 _small;
    private byte[]? _large;
    private int _length;

    /// <summary>Copies bytes, replacing those copied before.</summary>
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

    /// <summary>Deserializes the value and releases the buffer.</summary>
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

    /// <summary>Releases the buffer.</summary>
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
