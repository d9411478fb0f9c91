namespace Treepie.Indexing.Sorting;

/// <summary>A part from the score.</summary>
internal sealed class ScoreKeyPart(bool descending) : KeyPart
{
    public override void Append(long id, float score, KeyBuffer key)
    {
        uint bits = BitConverter.SingleToUInt32Bits(score);
        uint ordered = (bits & (1U << 31)) != 0 ? ~bits : bits | (1U << 31);
        key.Append((ulong)(descending ? ~ordered : ordered));
    }
}
