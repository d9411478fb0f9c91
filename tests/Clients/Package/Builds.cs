namespace Treepie.Clients.Tests.Package;

/// <summary>
/// Tests that build projects of the repository or from it: one after the other, since they write to the same folders.
/// </summary>
[CollectionDefinition(Collection)]
public sealed class Builds
{
    public const string Collection = "builds";
}
