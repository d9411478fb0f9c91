using Treepie.Compression;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Compression;

public sealed class NativeZstdTests : ZstdTests
{
    private protected override ZstdLibrary Library
    {
        get
        {
            NativeZstd? library = NativeZstd.TryLoad(NativeZstd.NamesOfSystem);
            Requirement.Needs(library is not null, "libzstd", "Install it (Debian: libzstd1).");
            return library!; // Needs does not return without it
        }
    }

    [Fact]
    public void A_library_that_is_missing_or_lacks_a_function_is_not_taken()
    {
        Assert.Null(NativeZstd.TryLoad("libno-such-zstd.so.9", "libno-such-zstd.so.8"));
        Assert.Null(NativeZstd.TryLoad("libc.so.6"));
    }

    [Theory]
    [InlineData(2)]
    [InlineData(9)]
    public async Task What_one_compresses_the_other_decompresses(int level)
    {
        var managed = new ManagedZstd();
        byte[] content = Content(2_000_000, new Random(level));
        Assert.Equal(content, await DecompressAsync(await CompressAsync(content, level, 2, managed), Library));
        Assert.Equal(content, await DecompressAsync(await CompressAsync(content, level, 2, Library), managed));
    }
}
