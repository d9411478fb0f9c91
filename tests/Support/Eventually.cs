namespace Treepie.Tests.Support;

/// <summary>Waits for effects of another thread or process that sends no notification.</summary>
public static class Eventually
{
    /// <summary>Many times what anything takes, even on a busy machine; what has not happened by then never will.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    private static readonly TimeSpan _pace = TimeSpan.FromMilliseconds(5);

    /// <summary>Returns as soon as the condition is true. Fails the test if it never is.</summary>
    public static Task TrueAsync(Func<bool> isSo, string what) => TrueAsync(() => Task.FromResult(isSo()), what);

    /// <summary>Same as above, for an asynchronous condition.</summary>
    public static async Task TrueAsync(Func<Task<bool>> isSo, string what)
    {
        long began = TimeProvider.System.GetTimestamp();
        while (!await isSo())
        {
            Assert.True(
                TimeProvider.System.GetElapsedTime(began) < Patience, $"After {Patience} it is still not so that {what}.");
            await Task.Delay(_pace, TestContext.Current.CancellationToken);
        }
    }
}
