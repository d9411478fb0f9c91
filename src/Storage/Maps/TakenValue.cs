using System.Buffers;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Maps;

/// <summary>
/// A value that is read while others may write: first its bytes are taken, then the reader finds out whether they were left alone, and only then they become a
/// value. So no serializer ever sees half of one value and half of another; plain ones may, and nobody sees what they made of it.
/// </summary>
internal struct TakenValue<T, TSerializer>
    where TSerializer : struct, IMapSerializer<T>
{
    private T? _value;
    private Buffer64 _small;
    private byte[]? _large;
    private int _length;

    private static bool IsPlain
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => default(TSerializer) is IPlainSerializer;
    }

    /// <summary>Takes bytes, in place of what was taken before.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Take(ReadOnlySpan<byte> bytes)
    {
        if (IsPlain)
            _value = TSerializer.Read(bytes);
        else
            Copy(bytes);
    }

    /// <summary>The value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public T Finish() => IsPlain
        ? _value! // plain values are never null
        : ReadCopy();

    /// <summary>Forgets what was taken.</summary>
    public void Drop()
    {
        if (_large is { } large)
        {
            _large = null;
            ArrayPool<byte>.Shared.Return(large);
        }
    }

    private void Copy(ReadOnlySpan<byte> bytes)
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

    private T ReadCopy()
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

    [InlineArray(Length)]
    private struct Buffer64
    {
        public const int Length = 64;

        private byte _first;
    }
}
