namespace Treepie.Indexes.States;

/// <summary>Orders keys by their bytes.</summary>
internal sealed class KeyOrder : IComparer<byte[]>
{
    public static readonly KeyOrder Instance = new();

    public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
}
