using System.Runtime.CompilerServices;

namespace Treepie.Storage.Maps;

/// <summary>Receives the bytes of a value that is read while others may write.</summary>
internal interface ITaken
{
    void Take(ReadOnlySpan<byte> bytes);
}

/// <summary>Converts the bytes to a value at once, which plain serializers can do with any bytes.</summary>
internal struct PlainTaken<T, TSerializer> : ITaken
    where TSerializer : struct, IMapSerializer<T>
{
    /// <summary>The value.</summary>
    public T Value;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Take(ReadOnlySpan<byte> bytes) => Value = TSerializer.Read(bytes);
}
