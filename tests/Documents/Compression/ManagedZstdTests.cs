using Treepie.Compression;

namespace Treepie.Documents.Tests.Compression;

public sealed class ManagedZstdTests : ZstdTests
{
    private protected override ZstdLibrary Library { get; } = new ManagedZstd();
}
