using System.Buffers;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Maps;

/// <summary>A serialized key or value, in a stack buffer of the caller if it is short, otherwise in a pooled one.</summary>
internal ref struct Serialized<T, TSerializer>
    where TSerializer : struct, IMapSerializer<T>
{
    /// <summary>The size of the caller's stack buffer.</summary>
    public const int StackBytes = 256;

    private byte[]? _borrowed;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Serialized(T value, Span<byte> buffer)
    {
        if (TSerializer.FixedBytes >= 0 && TSerializer.FixedBytes <= StackBytes)
        {
            TSerializer.Write(value, buffer[..TSerializer.FixedBytes]);
            Bytes = buffer[..TSerializer.FixedBytes];
            return;
        }

        Bytes = WriteAny(value, buffer, out _borrowed);
    }

    /// <summary>The bytes. Valid until disposed.</summary>
    public ReadOnlySpan<byte> Bytes { get; }

    public void Dispose()
    {
        if (_borrowed is { } borrowed)
        {
            _borrowed = null;
            ArrayPool<byte>.Shared.Return(borrowed);
        }
    }

    private static ReadOnlySpan<byte> WriteAny(T value, Span<byte> buffer, out byte[]? borrowed)
    {
        borrowed = null;
        int maxBytes = TSerializer.GetMaxBytes(value);
        if (maxBytes > buffer.Length)
            buffer = borrowed = ArrayPool<byte>.Shared.Rent(maxBytes);
        try
        {
            int length = TSerializer.Write(value, buffer);
            if (TSerializer.FixedBytes >= 0 && length != TSerializer.FixedBytes)
                throw new InvalidOperationException(
                    $"The serializer {typeof(TSerializer).Name} says that it writes {TSerializer.FixedBytes} bytes, and wrote "
                        + $"{length}.");
            return buffer[..length];
        }
        catch
        {
            if (borrowed is not null)
                ArrayPool<byte>.Shared.Return(borrowed);
            borrowed = null;
            throw;
        }
    }
}
