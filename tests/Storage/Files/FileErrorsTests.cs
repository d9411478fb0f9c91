using System.Runtime.InteropServices;
using Treepie.Storage.Files;

namespace Treepie.Storage.Tests.Files;

public sealed class FileErrorsTests
{
    /// <summary>ENOSPC, EDQUOT, ERROR_DISK_FULL, ERROR_HANDLE_DISK_FULL and ERROR_DISK_QUOTA_EXCEEDED.</summary>
    [Theory]
    [InlineData("LINUX", 28, 122)]
    [InlineData("OSX", 28, 69)]
    [InlineData("FREEBSD", 28, 69)]
    [InlineData("WINDOWS", unchecked((int)0x80070070), unchecked((int)0x80070027), unchecked((int)0x8007050F))]
    public void A_full_disk_and_a_full_quota_are_known_by_the_numbers_of_the_system(string system, params int[] full)
    {
        int[] numbers = [0, 5, 28, 69, 122, .. ((int[])[5, 39, 112, 1295]).Select(static code => unchecked((int)0x80070000) | code)];
        Assert.Equal(
            full.Order(), numbers.Where(number => FileErrors.IsDiskFull(number, OSPlatform.Create(system))).Order());
    }
}
