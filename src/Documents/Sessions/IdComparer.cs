using System.Runtime.CompilerServices;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Compares document ids in the same way as the database.</summary>
internal sealed class IdComparer : IEqualityComparer<string>
{
    public static IdComparer Instance { get; } = new();

    [SkipLocalsInit]
    public bool Equals(string? x, string? y)
    {
        if (x is null || y is null)
            return ReferenceEquals(x, y);
        if (string.Equals(x, y, StringComparison.Ordinal))
            return true;

        Span<byte> left = stackalloc byte[DocumentId.MaxFoldedBytes];
        Span<byte> right = stackalloc byte[DocumentId.MaxFoldedBytes];
        return DocumentId.TryFold(x, left, out int leftLength) && DocumentId.TryFold(y, right, out int rightLength)
            && left[..leftLength].SequenceEqual(right[..rightLength]);
    }

    [SkipLocalsInit]
    public int GetHashCode(string obj)
    {
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        if (!DocumentId.TryFold(obj, folded, out int length))
            return obj.GetHashCode(StringComparison.Ordinal); // not a valid id: equal only to itself
        var hash = new HashCode();
        hash.AddBytes(folded[..length]);
        return hash.ToHashCode();
    }
}
