using Treepie.Storage.Format;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

/// <summary>
/// Where a page is split depends on the computed size of its parts. If that is one byte too large, a full page "cannot be
/// divided".
/// </summary>
public sealed class PageRebuildTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_is_said_of_a_part_is_what_it_takes(bool isBranch)
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            byte[] old = NewPage(isBranch);
            Fill(new SlottedPage(old), random, isBranch);
            byte[] key = new byte[random.Next(1, 300)];
            random.NextBytes(key);
            int index = new SlottedPage(old).LowerBound(key, isBranch ? 1 : 0, out _);
            var rebuild = new PageRebuild(old, index, key, isBranch ? PageReference.PackedBytes : 40, isOverflow: false);
            for (int split = 1; split < rebuild.Count; split++)
            {
                Check(rebuild, 0, split, isBranch);
                Check(rebuild, split, rebuild.Count, isBranch);
            }
        }
    }

    private static void Check(PageRebuild rebuild, int from, int to, bool isBranch)
    {
        int said = rebuild.ContentBytes(from, to, isBranch);
        if (said > PageLayout.ContentBytes)
            return;

        var page = new SlottedPage(NewPage(isBranch));
        PageRebuild.Write(rebuild, page, from, to);
        Assert.Equal(page.UsedBytes, said);
    }

    /// <summary>Fills the page with keys that have a common prefix, which the additional key does not have.</summary>
    private static void Fill(SlottedPage page, Random random, bool isBranch)
    {
        byte[] prefix = new byte[random.Next(1500)];
        random.NextBytes(prefix);
        if (prefix.Length > 0)
            page.SetPrefix(prefix, default);
        for (int i = 0; page.Count < 3 || (page.HasRoom(20, 40) && random.Next(100) > 0); i++)
        {
            byte[] suffix = [(byte)(i >> 8), (byte)i, .. new byte[random.Next(18)]];
            page.InsertSuffix(
                page.Count, isBranch && i == 0 ? default : suffix, default,
                isBranch ? PageReference.PackedBytes : random.Next(40), isOverflow: false);
        }
    }

    private static byte[] NewPage(bool isBranch)
    {
        byte[] bytes = new byte[PageLayout.SizeBytes];
        var header = new Page(bytes) { Type = isBranch ? PageType.Branch : PageType.Leaf, Level = isBranch ? 1 : 0 };
        new SlottedPage(header.Bytes).Clear();
        return bytes;
    }
}
