using System.Diagnostics;

namespace Treepie.Tests.Support;

/// <summary>A real file system of a few megabytes, mounted for one test. Without the right to mount, the test is
/// skipped.</summary>
public sealed class SmallFileSystem : IDisposable
{
    private const string HowToGetIt = "Run the tests on Linux as root (in a container: with the right to mount).";

    private readonly TemporaryDirectory _folder = new();
    private bool _isMounted;

    private SmallFileSystem()
    {
    }

    /// <summary>The mount point.</summary>
    public string Path => System.IO.Path.Combine(_folder.Path, "mounted");

    /// <summary>Mounts a file system: <c>tmpfs</c>, in memory, or <c>ext4</c>, in a file.</summary>
    public static SmallFileSystem Mount(string kind, int megabytes)
    {
        Requirement.Needs(
            OperatingSystem.IsLinux() && Environment.UserName == "root", "The right to mount a file system", HowToGetIt);
        var made = new SmallFileSystem();
        try
        {
            Directory.CreateDirectory(made.Path);
            string image = System.IO.Path.Combine(made._folder.Path, "image");
            made._isMounted = kind switch
            {
                "tmpfs" => Run("mount", "-t", "tmpfs", "-o", $"size={megabytes}m", "treepie", made.Path),
                _ => MakeImage(image, megabytes)
                    && Run("mkfs.ext4", "-q", "-F", "-m", "0", image)
                    && Run("mount", "-o", "loop", image, made.Path),
            };
            Requirement.Needs(made._isMounted, $"A file system of type {kind} to mount", HowToGetIt);
            return made;
        }
        catch
        {
            made.Dispose();
            throw;
        }
    }

    /// <summary>Fills it to the last byte with a file that <see cref="Free"/> deletes.</summary>
    public void Fill()
    {
        using var ballast = new FileStream(
            System.IO.Path.Combine(Path, "ballast"), FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
        for (int step = 1 << 20; step >= 1; step /= 2)
        {
            try
            {
                while (true)
                    ballast.Write(new byte[step]);
            }
            catch (IOException)
            {
                // Too large to fit; try a smaller step.
            }
        }
    }

    public void Free() => File.Delete(System.IO.Path.Combine(Path, "ballast"));

    /// <summary>Remounts it read-only. No file may be open for writing.</summary>
    public void MakeReadOnly() =>
        Assert.True(Run("mount", "-o", "remount,ro", Path), "It cannot be made read-only: a file may be open for writing.");

    public void Dispose()
    {
        if (_isMounted && !Run("umount", Path))
            Run("umount", "-l", Path);
        _isMounted = false;
        _folder.Dispose();
    }

    private static bool MakeImage(string path, int megabytes)
    {
        using FileStream image = File.Create(path);
        image.SetLength((long)megabytes << 20);
        return true;
    }

    private static bool Run(string program, params string[] arguments)
    {
        try
        {
            using Process process = Process.Start(
                new ProcessStartInfo(program, arguments) { RedirectStandardError = true, RedirectStandardOutput = true })
                ?? throw new InvalidOperationException($"'{program}' did not start.");
            process.StandardError.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return false; // the program does not exist
        }
    }
}
