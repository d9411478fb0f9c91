using System.Diagnostics;

namespace Treepie.Indexing.Sorting;

/// <summary>A key part from the score.</summary>
internal sealed class ScoreKeyPart(bool descending) : KeyPart
{
    public override void Append(long id, float score, KeyBuffer key) => key.Append(Of(score));

    /// <summary>Returns an integer that sorts like the scores, in the part's direction.</summary>
    public ulong Of(float score)
    {
        Debug.Assert(!float.IsNaN(score), "a score has an order");
        uint bits = BitConverter.SingleToUInt32Bits(score);
        uint ordered = (bits & (1U << 31)) != 0 ? ~bits : bits | (1U << 31);
        return descending ? ~ordered : ordered;
    }
}
