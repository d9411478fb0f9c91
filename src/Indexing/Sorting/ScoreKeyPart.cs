namespace Treepie.Indexing.Sorting;

/// <summary>A part from the score.</summary>
internal sealed class ScoreKeyPart(bool descending) : KeyPart
{
    public override void Append(long id, float score, KeyBuffer key) => key.Append(Of(score));

    /// <summary>What stands for a score.</summary>
    public ulong Of(float score)
    {
        uint bits = BitConverter.SingleToUInt32Bits(score);
        uint ordered = (bits & (1U << 31)) != 0 ? ~bits : bits | (1U << 31);
        return descending ? ~ordered : ordered;
    }
}
