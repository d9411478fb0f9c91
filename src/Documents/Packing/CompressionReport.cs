namespace Treepie.Packing;

/// <summary>What a run compressed.</summary>
/// <param name="Documents">Documents.</param>
/// <param name="BytesBefore">Bytes of their bodies as they were stored before.</param>
/// <param name="BytesAfter">Bytes of their bodies as they are stored now.</param>
public sealed record CompressionReport(long Documents, long BytesBefore, long BytesAfter)
{
    /// <summary>Both together.</summary>
    public static CompressionReport operator +(CompressionReport left, CompressionReport right)
    {
        ArgumentNullException.ThrowIfNull(left);
        ArgumentNullException.ThrowIfNull(right);
        return new CompressionReport(
            left.Documents + right.Documents, left.BytesBefore + right.BytesBefore, left.BytesAfter + right.BytesAfter);
    }
}
