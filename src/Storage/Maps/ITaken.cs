using System.Runtime.CompilerServices;

namespace Treepie.Storage.Maps;

/// <summary>What takes the bytes of a value that is read while others may write.</summary>
internal interface ITaken
{
    void Take(ReadOnlySpan<byte> bytes);
}

/// <summary>Takes them as a value at once, which plain serializers can do of any bytes.</summary>
internal struct PlainTaken<T, TSerializer> : ITaken
    where TSerializer : struct, IMapSerializer<T>
{
    /// <summary>The value.</summary>
    public T Value;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Take(ReadOnlySpan<byte> bytes) => Value = TSerializer.Read(bytes);
}
