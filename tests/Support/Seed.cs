using System.Globalization;

namespace Treepie.Tests.Support;

/// <summary>
/// The seed of a random test: from <c>TREEPIE_SEED</c> or random, and printed so that a failure can be repeated.
/// </summary>
public static class Seed
{
    /// <summary>Returns the given seed or draws one, and prints it.</summary>
    public static int Next()
    {
        int seed = int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_SEED"), CultureInfo.InvariantCulture, out int given)
            ? given
            : Random.Shared.Next();
        TestContext.Current.SendDiagnosticMessage($"TREEPIE_SEED={seed}");
        TestContext.Current.TestOutputHelper?.WriteLine($"TREEPIE_SEED={seed}");
        return seed;
    }
}
