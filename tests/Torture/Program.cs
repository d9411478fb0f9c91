using Xunit.MicrosoftTestingPlatform;

namespace Treepie.Torture;

/// <summary>
/// With its own options, the program runs the torture test; with none, or with those of the test platform, it is an ordinary test
/// program.
/// </summary>
internal static class Program
{
    public static int Main(string[] arguments) => TortureOptions.AreIn(arguments)
        ? TortureProgram.Run(arguments)
        : TestPlatformTestFramework
            .RunAsync(arguments, SelfRegisteredExtensions.AddSelfRegisteredExtensions)
            .GetAwaiter()
            .GetResult();
}
