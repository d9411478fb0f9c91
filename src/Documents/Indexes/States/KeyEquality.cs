namespace Treepie.Indexes.States;

/// <summary>Keys are equal when their bytes are.</summary>
internal sealed class KeyEquality : IEqualityComparer<byte[]>
{
    public static readonly KeyEquality Instance = new();

    public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

    public int GetHashCode(byte[] key)
    {
        var hash = default(HashCode);
        hash.AddBytes(key);
        return hash.ToHashCode();
    }
}
