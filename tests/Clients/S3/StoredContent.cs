using Treepie.Destinations;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.S3;

/// <summary>Bytes that go to a bucket, and are looked for there.</summary>
internal static class StoredContent
{
    /// <summary>Bytes of the seed's choosing.</summary>
    public static byte[] Draw(int length)
    {
        byte[] content = new byte[length];
        new Random(Seed.Next()).NextBytes(content);
        return content;
    }

    /// <summary>Fails unless an object of the place holds exactly these bytes.</summary>
    public static async Task AssertAsync(BackupDestination place, string name, byte[] content)
    {
        CancellationToken cancelled = TestContext.Current.CancellationToken;
        await using Stream stored = await place.OpenAsync(name, cancelled);
        using var copy = new MemoryStream();
        await stored.CopyToAsync(copy, cancelled);
        Assert.True(
            content.AsSpan().SequenceEqual(copy.ToArray()),
            $"{name}: {copy.Length} bytes are not the {content.Length} that were written.");
    }
}
