namespace Treepie.Packing;

/// <summary>The result of a compression run.</summary>
/// <param name="Documents">The number of documents compressed.</param>
/// <param name="BytesBefore">The stored size of their bodies before, in bytes.</param>
/// <param name="BytesAfter">The stored size of their bodies after, in bytes.</param>
public sealed record CompressionReport(long Documents, long BytesBefore, long BytesAfter)
{
    /// <summary>Adds two reports.</summary>
    public static CompressionReport operator +(CompressionReport left, CompressionReport right)
    {
        ArgumentNullException.ThrowIfNull(left);
        ArgumentNullException.ThrowIfNull(right);
        return new CompressionReport(
            left.Documents + right.Documents, left.BytesBefore + right.BytesBefore, left.BytesAfter + right.BytesAfter);
    }
}
