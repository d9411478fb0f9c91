using Treepie.Tests.Support;

namespace Treepie.Torture;

public sealed class LongReaderTests
{
    /// <summary>The small form of <c>--long-reader</c>, which writes 10 GB to a database of 1 GB.</summary>
    [Fact]
    public void A_reader_that_never_ends_keeps_one_version_of_each_page_and_nothing_else_grows()
    {
        using var directory = new TemporaryDirectory();
        Assert.Empty(
            new LongReader(
                directory.Path, 8 << 20, 64 << 20, line => TestContext.Current.TestOutputHelper?.WriteLine(line)).Run());
    }
}
