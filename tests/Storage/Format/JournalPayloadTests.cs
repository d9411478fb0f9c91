using Treepie.Storage.Format;
using Treepie.Storage.Memory;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Format;

public class JournalPayloadTests
{
    [Fact]
    public void What_is_written_of_a_page_makes_it_again_from_its_original()
    {
        var random = new Random(Seed.Next());
        byte[] written = new byte[JournalPayload.MaxPageBytes];
        for (int round = 0; round < 1_000; round++)
        {
            byte[] original = new byte[PageLayout.SizeBytes];
            if (round % 4 != 0)
                random.NextBytes(original);
            byte[] page = [.. original];
            for (int change = random.Next(round % 10 == 0 ? 2_000 : 12); change > 0; change--)
                page[random.Next(page.Length)] ^= (byte)(1 << random.Next(8));

            int length = JournalPayload.WritePage(written, 7, round % 4 == 0 ? 0 : 5, page, round % 4 == 0 ? default : original, LineSet.All);

            Assert.Equal(length, JournalPayload.Apply(written, original));
            Assert.Equal(page, original);
        }
    }

    [Fact]
    public void A_range_has_the_bytes_that_differ_and_no_others()
    {
        byte[] original = new byte[PageLayout.SizeBytes], written = new byte[JournalPayload.MaxPageBytes];
        byte[] page = [.. original];
        page[1001] = 1;
        page[1002] = 2;

        int length = JournalPayload.WritePage(written, 7, 5, page, original, LineSet.All);

        Assert.Equal(JournalPayload.PageHeadBytes + 4 + 2, length);
    }
}
