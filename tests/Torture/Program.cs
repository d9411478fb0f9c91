using Xunit.MicrosoftTestingPlatform;

namespace Treepie.Torture;

/// <summary>
/// With options of its own the program tortures; without any, or with those of the test platform, it is a test program like the
/// others.
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
