using System.Runtime.InteropServices;

namespace Treepie.Torture.Real;

/// <summary>
/// Makes the system refuse calls of this process with an error number (seccomp), from a moment of its choosing until it ends.
/// Below everything of the engine and of .NET: the same calls as in production are made, and the kernel fails them.
/// </summary>
internal static partial class SystemCallFilter
{
    private const int NoNewPrivileges = 38;
    private const int SetFilter = 1;
    private const int OnAllThreads = 1;
    private const int NoSuchCall = 38;
    private const int ProgramBytes = 16;
    private const int ProgramAddressOffset = 8;

    private const ushort LoadWord = 0x20;
    private const ushort And = 0x54;
    private const ushort JumpIfEqual = 0x15;
    private const ushort Return = 0x06;
    private const uint Allow = 0x7FFF_0000;
    private const uint Fail = 0x0005_0000;
    private const uint NumberOffset = 0;
    private const uint MachineOffset = 4;
    private const uint FirstArgumentOffset = 16;

    /// <summary>The rows of the table of calls: x64, then arm64.</summary>
    private static readonly Dictionary<string, (uint X64, uint Arm64)> _numbers = new(StringComparer.Ordinal)
    {
        ["fallocate"] = (285, 47),
        ["fdatasync"] = (75, 83),
        ["fsync"] = (74, 82),
        ["ftruncate"] = (77, 46),
        ["madvise"] = (28, 233),
        ["mincore"] = (27, 232),
        ["mmap"] = (9, 222),
        ["openat"] = (257, 56),
        ["pwrite64"] = (18, 68),
        ["pwritev"] = (296, 70),
        ["sync_file_range"] = (277, 84),
    };

    /// <summary>Whether the numbers of this machine's calls are known: Linux on x64 and arm64.</summary>
    public static bool IsKnownMachine => OperatingSystem.IsLinux() && BitConverter.IsLittleEndian
        && RuntimeInformation.ProcessArchitecture is Architecture.X64 or Architecture.Arm64;

    private static bool IsArm => RuntimeInformation.ProcessArchitecture == Architecture.Arm64;

    /// <summary>Refuses calls from now on, on every thread. Returns the error number of the system, 0 for success.</summary>
    public static int TryInstall(IReadOnlyList<RefusedCall> refused)
    {
        if (Control(NoNewPrivileges, 1, 0, 0, 0) != 0)
            return Marshal.GetLastPInvokeError();

        ulong[] program = Compile(refused);
        GCHandle pinned = GCHandle.Alloc(program, GCHandleType.Pinned);
        try
        {
            byte[] description = new byte[ProgramBytes];
            MemoryMarshal.Write(description, (ushort)program.Length);
            MemoryMarshal.Write(description.AsSpan(ProgramAddressOffset), (ulong)pinned.AddrOfPinnedObject());
            nint result = Call(IsArm ? 277 : 317, SetFilter, OnAllThreads, ref description[0]);
            return result switch
            {
                0 => 0,
                > 0 => NoSuchCall, // the id of a thread that has a filter of its own
                _ => Marshal.GetLastPInvokeError(),
            };
        }
        finally
        {
            pinned.Free();
        }
    }

    /// <summary>
    /// A program of the kernel's filter language: each rule loads the number of the call and its arguments, and jumps to the next
    /// rule where one differs.
    /// </summary>
    private static ulong[] Compile(IReadOnlyList<RefusedCall> refused)
    {
        List<ulong> program =
        [
            Instruction(LoadWord, MachineOffset),
            Instruction(JumpIfEqual, IsArm ? 0xC000_00B7 : 0xC000_003E, ifEqual: 1),
            Instruction(Return, Allow),
        ];
        foreach (RefusedCall rule in refused)
        {
            List<ulong> body = [];
            int left = 1 + (3 * rule.Only.Count); // instructions after the one that compares, up to the next rule
            (uint x64, uint arm64) = _numbers[rule.Name];
            body.Add(Instruction(LoadWord, NumberOffset));
            body.Add(Instruction(JumpIfEqual, IsArm ? arm64 : x64, ifDifferent: left));
            foreach (ArgumentTest test in rule.Only)
            {
                left -= 3;
                body.Add(Instruction(LoadWord, FirstArgumentOffset + (8 * (uint)test.Argument)));
                body.Add(Instruction(And, test.Mask));
                body.Add(
                    test.IsEqual
                        ? Instruction(JumpIfEqual, test.Value, ifDifferent: left)
                        : Instruction(JumpIfEqual, test.Value, ifEqual: left));
            }

            body.Add(Instruction(Return, Fail | (uint)rule.Error));
            program.AddRange(body);
        }

        program.Add(Instruction(Return, Allow));
        return [.. program];
    }

    private static ulong Instruction(ushort code, uint value, int ifEqual = 0, int ifDifferent = 0) =>
        code | ((ulong)checked((byte)ifEqual) << 16) | ((ulong)checked((byte)ifDifferent) << 24) | ((ulong)value << 32);

    [LibraryImport("libc", EntryPoint = "prctl", SetLastError = true)]
    private static partial int Control(int option, nint second, nint third, nint fourth, nint fifth);

    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true)]
    private static partial nint Call(nint number, nint operation, nint flags, ref byte program);
}
