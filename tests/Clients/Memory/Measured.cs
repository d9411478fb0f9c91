namespace Treepie.Clients.Tests.Memory;

/// <summary>Tests that measure memory or time: none runs beside another test of this project.</summary>
[CollectionDefinition(Collection, DisableParallelization = true)]
public sealed class Measured
{
    public const string Collection = "measured";
}
